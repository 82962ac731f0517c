# vehicles
STREAM V(k STRING) KEY k TIME t;
