STREAM Car(id STRING, road STRING, began INT, ended INT) ID id KEY road TIME FROM began TO ended SEGMENTS;
STREAM Door(room STRING, n INT, t INT) KEY room TIME t SEGMENTS COUNT n;
STREAM Gate(room STRING, n INT, t INT) KEY room TIME t SEGMENTS ROLE n;
