/** Who people are. They may hide what they show to others; hidden is the same as none. */
import { Boom } from '@hapi/boom';
import type { WASocket } from '@whiskeysockets/baileys';
import { lidOfNumber, numbersOfLids } from './lid-numbers.js';
import { findNumbers } from './number-check.js';

/** Where the small and the whole picture are; '' for none. */
export interface PictureAddresses {
  readonly picture: string;
  readonly pictureFull: string;
}

export interface PersonRequests {
  /**
   * Which numbers the network knows.
   * @param digits international numbers
   * @returns digits as given to digits as the network writes them, for those it knows
   */
  findNumbers(digits: readonly string[]): Promise<Map<string, string>>;
  /**
   * The numbers behind LIDs, as far as this device has learnt them. The network is not queried.
   * @param lids `@lid` addresses, with or without device
   * @returns user part of the LID to digits of the number
   */
  numbersOfLids(lids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The user part of the LID of a number, as far as this device has learnt it. The network is not queried. */
  lidOfNumber(digits: string): Promise<string | undefined>;
  /** The about text; undefined when there is none to be seen. */
  about(jid: string): Promise<string | undefined>;
  /** Of a person or a group. */
  pictures(jid: string): Promise<PictureAddresses>;
  /** Where the small picture is; undefined for none. @throws also when it is not known within the time */
  smallPicture(jid: string, timeoutMs: number): Promise<string | undefined>;
}

export function personRequests(socket: WASocket): PersonRequests {
  return {
    findNumbers: (digits) => findNumbers(socket, digits),
    numbersOfLids: (lids) => numbersOfLids(socket, lids),
    lidOfNumber: (digits) => lidOfNumber(socket, digits),
    about: (jid) => aboutOf(socket, jid),
    pictures: (jid) => pictureAddresses(socket, jid),
    smallPicture: (jid, timeoutMs) => socket.profilePictureUrl(jid, 'preview', timeoutMs),
  };
}

async function aboutOf(socket: Pick<WASocket, 'fetchStatus'>, jid: string): Promise<string | undefined> {
  const [answer] = (await socket.fetchStatus(jid)) ?? [];
  const status: unknown = answer && Reflect.get(answer, 'status');
  const text: unknown = typeof status === 'object' && status !== null ? Reflect.get(status, 'status') : status;
  return typeof text === 'string' && text !== '' ? text : undefined;
}

async function pictureAddresses(socket: Pick<WASocket, 'profilePictureUrl'>, jid: string): Promise<PictureAddresses> {
  const [picture, pictureFull] = await Promise.all([
    pictureAddress(socket, jid, 'preview'),
    pictureAddress(socket, jid, 'image'),
  ]);
  return { picture: picture ?? pictureFull ?? '', pictureFull: pictureFull ?? picture ?? '' };
}

/** None, and none for us. */
const NO_PICTURE = [401, 403, 404];

async function pictureAddress(
  socket: Pick<WASocket, 'profilePictureUrl'>,
  jid: string,
  kind: 'preview' | 'image',
): Promise<string | undefined> {
  try {
    return await socket.profilePictureUrl(jid, kind);
  } catch (error) {
    if (error instanceof Boom && NO_PICTURE.includes(Number(error.data))) return undefined;
    throw error;
  }
}
