stream Trip(id string, at timestamp) time at;
event e as pattern Trip t[idd = 'x'];