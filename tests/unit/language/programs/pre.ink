STREAM At(person STRING, room STRING) KEY person TIME t PROBABILITY p;
EVENT pre(person) AS PATTERN SEQ NEXT(At a[room='a'], At c[room='c']) PARTITION BY person PER END;
