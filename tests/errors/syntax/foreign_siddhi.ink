define stream V (id string, s double);
from every e1=V -> e2=V select e1.id insert into Out;
