id,bus,speed
1,b7,30
2,b8,31
