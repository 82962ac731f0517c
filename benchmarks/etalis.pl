% Feeds events to ETALIS, counts the processor time, and writes the results to a file, a line for each.
%
% swipl -g main etalis.pl -- SOURCES RULES EVENTS RESULTS NAME ARITY KEPT
%
% SOURCES is etalis.P, EVENTS has facts e(Event, Time) in the order of their times, NAME and ARITY are those of the
% results. Goals that began more than KEPT before an event are dropped, twice in such a time: ETALIS itself collects
% garbage by the clock of the machine, which says nothing about recorded events. With KEPT 0, all goals are kept.

:- dynamic e/2.

main :-
  current_prolog_flag(argv, [Sources, Rules, Events, Results, Name, Arity0, Kept0]),
  atom_number(Arity0, Arity), atom_number(Kept0, Kept),
  consult(Sources),
  set_etalis_flag(event_consumption_policy, unrestricted),
  compile_event_file(Rules),
  consult(Events),
  nb_setval(dropped_at, 0),
  statistics(cputime, T0), statistics(walltime, [W0, _]),
  forall(e(Event, Time), (drop(Time, Kept), event(Event, [Time, Time]))),
  statistics(cputime, T1), statistics(walltime, [W1, _]),
  CPU is T1 - T0, Wall is (W1 - W0) / 1000.0,
  functor(Found, Name, Arity),
  open(Results, write, Stream),
  forall(fired_event(Found, _), (Found =.. [_|Values], line(Stream, Values))),
  close(Stream),
  format("~w ~w~n", [Wall, CPU]).

drop(_, 0) :- !.
drop(Time, Kept) :- nb_getval(dropped_at, Last), Time - Last < Kept / 2, !.
drop(Time, Kept) :-
  Border is Time - Kept,
  forall((etr_db(_, Start, _, _, _), Start < Border), retractall(etr_db(_, Start, _, _, _))),
  nb_setval(dropped_at, Time).

line(Stream, Values) :- atomic_list_concat(Values, '\t', Line), write(Stream, Line), nl(Stream).
