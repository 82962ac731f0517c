STREAM Door(id BIGINT, person STRING, room STRING, t BIGINT) ID id KEY person TIME t;
TABLE offices(person STRING, room STRING) FROM 'offices.csv';

EVENT stranger(d.person AS person, d.room AS room) AS
  PATTERN Door d[NOT offices(person, room)];

EVENT home_again(person) AS
  PATTERN SEQ NEXT(Door a[offices(person, room)], Door b[offices(person, room)])
  PARTITION BY person;
