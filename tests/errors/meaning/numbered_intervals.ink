STREAM Shift(worker STRING) KEY worker TIME FROM started TO ended NUMBERED BY n;
