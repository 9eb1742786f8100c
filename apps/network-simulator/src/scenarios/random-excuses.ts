import type { Network } from '../network/network.js';
import type { Begun } from './random-messages.js';
import type { Person, RandomPeople } from './random-people.js';

/** Why nobody could deliver a copy, and how many of them there were. */
export interface Excused {
  /** The number did not exist when the copy was made, or made again. */
  lostWhileUnknown: number;
  /** Another copy was requested when the device that could have made it was not linked any more. */
  lostWithDevice: number;
  /** Another copy was requested in a group that its author, or the requester, was removed from meanwhile. */
  lostWithGroup: number;
}

/** A copy that somebody does not have, and when it was made. */
interface Lost {
  id: string;
  person: Person;
  fromMs: number;
  untilMs: number;
}

/** Why a copy could not be delivered, if there is a reason. */
export function excuseOf(
  network: Network,
  people: RandomPeople,
  begun: Begun | undefined,
  { id, person, fromMs, untilMs }: Lost,
): keyof Excused | undefined {
  const again = network.resendsRequested.has(id);
  if (people.wasUnknown(person, fromMs, again ? Infinity : untilMs)) return 'lostWhileUnknown';
  if (!again || !begun) return undefined;
  const { author, client, chat } = begun;
  if (client !== undefined && client !== author.client) return 'lostWithDevice';
  const group = people.groups.find(({ jid }) => jid === chat);
  return group && [author, person].some((one) => people.wasOut(group, one, fromMs)) ? 'lostWithGroup' : undefined;
}
