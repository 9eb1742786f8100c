import { startSimulator, type Simulator } from '../simulator.js';
import { Client } from './client.js';
import { excuseOf } from './random-excuses.js';
import { RandomHistory } from './random-history.js';
import type { Begun } from './random-messages.js';
import { RandomPeople, seeded, type Person } from './random-people.js';

describe('what nobody can deliver in a random run', () => {
  let simulator: Simulator;
  let people: RandomPeople;
  let author: Person;
  let reader: Person;

  beforeEach(async () => {
    simulator = await startSimulator();
    people = new RandomPeople(simulator, seeded(1), new RandomHistory());
    await people.populate(0, 3);
    people.newGroup(people.all);
    const [, first, second] = people.all;
    if (!first || !second) throw new Error('nobody is there');
    [author, reader] = [first, second];
  });

  afterEach(() => simulator.stop());

  const excuse = (begun: Partial<Begun>, times: { fromMs: number; untilMs: number }) =>
    excuseOf(
      simulator.network,
      people,
      { author, chat: reader.phone.account.phoneJid, kind: 'text', ...times, ...begun },
      { id: 'LOST', person: reader, ...times },
    );

  it('is a copy for a number that did not exist when it was made, or made again', async () => {
    const before = { fromMs: 0, untilMs: Date.now() - 1000 };
    await people.whileUnknown(reader, () => Promise.resolve());
    expect(excuse({}, { fromMs: 0, untilMs: Date.now() })).toBe('lostWhileUnknown');
    expect(excuse({}, before)).toBeUndefined();
    simulator.network.resendsRequested.add('LOST');
    expect(excuse({}, before)).toBe('lostWhileUnknown');
    expect(excuse({}, { fromMs: Date.now() + 1000, untilMs: Date.now() + 2000 })).toBeUndefined();
  });

  it('is another copy from a device that is not linked any more, when one was requested', () => {
    const times = { fromMs: 0, untilMs: Date.now() };
    const client = new Client(simulator);
    expect(excuse({ client }, times)).toBeUndefined();
    simulator.network.resendsRequested.add('LOST');
    expect(excuse({ client }, times)).toBe('lostWithDevice');
    author.client = client;
    expect(excuse({ client }, times)).toBeUndefined();
  });

  it('is another copy in a group that one of the two was removed from meanwhile, when one was requested', () => {
    const group = people.groups.at(-1);
    if (!group) throw new Error('there is no group');
    const times = { fromMs: Date.now(), untilMs: Date.now() };
    const there = { chat: group.jid };
    simulator.network.resendsRequested.add('LOST');
    expect(excuse(there, times)).toBeUndefined();
    while (group.has(reader.phone.account.lid)) people.changeMembers();
    expect(excuse(there, times)).toBe('lostWithGroup');
    const later = Date.now() + 1000;
    expect(excuse(there, { fromMs: later, untilMs: later })).toBeUndefined();
    simulator.network.resendsRequested.delete('LOST');
    expect(excuse(there, times)).toBeUndefined();
  });
});
