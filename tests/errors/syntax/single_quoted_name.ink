STREAM 'order'(x INT) TIME t;
