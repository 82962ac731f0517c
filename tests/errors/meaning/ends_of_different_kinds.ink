STREAM Shift(worker STRING, began INT, ended TIMESTAMP) TIME FROM began TO ended;
