STREAM Trade(account STRING, price DOUBLE) KEY account TIME at OP op FOR 1 HOUR;
