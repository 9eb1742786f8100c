/** What the network says of a person when it is asked. People may hide each of it; hidden is the same as none. */
import { Boom } from '@hapi/boom';
import type { WASocket } from '@whiskeysockets/baileys';

/** The about text; undefined when there is none to be seen. */
export async function aboutOf(socket: Pick<WASocket, 'fetchStatus'>, jid: string): Promise<string | undefined> {
  const [answer] = (await socket.fetchStatus(jid)) ?? [];
  const status: unknown = answer && Reflect.get(answer, 'status');
  const text: unknown = typeof status === 'object' && status !== null ? Reflect.get(status, 'status') : status;
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** Addresses of the small and of the whole picture; '' for none. */
export async function pictureAddresses(
  socket: Pick<WASocket, 'profilePictureUrl'>,
  jid: string,
): Promise<{ picture: string; pictureFull: string }> {
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
