EVENT post(person) AS PATTERN SEQ NEXT(At a[room='a'], At c) HAVING c.room='c' PARTITION BY person PER END;
