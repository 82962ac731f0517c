STREAM Seen(person STRING, room STRING, before INT) KEY person TIME t PROBABILITY p GIVEN before;
