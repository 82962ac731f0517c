STREAM Traffic(id STRING road STRING) TIME t;
