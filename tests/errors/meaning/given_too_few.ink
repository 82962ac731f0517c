STREAM Seen(person STRING, room STRING, floor INT) KEY person TIME t PROBABILITY p GIVEN previous_room;
