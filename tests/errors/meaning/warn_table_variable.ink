STREAM At(person STRING, room STRING) KEY person TIME t;
TABLE hallway(room STRING) FROM 'hallways.csv';
EVENT inside AS PATTERN At a WHERE hallway(room);
EVENT outside AS PATTERN At a HAVING NOT hallway(room);
