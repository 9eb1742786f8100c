/**
 * A session with which a message could not be decrypted stays as it was.
 *
 * Why: libsignal tries all sessions with a contact, one after another, and each try may step the session's ratchet before the message
 * turns out to be of another one. When a later session succeeds, those that were tried in vain are stored with it. Both sides
 * that begin a session at the same time have two: the one that is sent with would be stepped by each answer on the other, and what
 * is sent with it next could not be read by anyone.
 *
 * A message of a chain that a session knows is of no other session: such a try costs nothing. Where a ratchet is stepped, which makes
 * a key pair and two agreements, the list of chains is copied.
 */
import libsignal from 'libsignal';

interface Chain {
  readonly chainKey: object;
  /** Keys of messages that have not arrived yet. */
  readonly messageKeys: object;
}

/** What libsignal calls a SessionEntry, as far as a step changes it. Buffers and key pairs in it are replaced, never written. */
interface Session {
  currentRatchet: { readonly lastRemoteEphemeralKey: Buffer };
  _chains: Record<string, Chain>;
}

type Step = (this: unknown, session: Session, remoteKey: Buffer, previousCounter: number) => void;
type Decrypt = (this: unknown, data: Buffer, session: Session) => Promise<Buffer>;

const STEP = 'maybeStepRatchet';
const DECRYPT = 'doDecryptWhisperMessage';

/** Makes libsignal, which is changed for the whole process, undo what a failed try has changed. @throws {Error} when it has no such tries */
export function undoFailedDecryptions(): void {
  const { prototype } = libsignal.SessionCipher;
  const [step, decrypt] = [STEP, DECRYPT].map((name): unknown => Reflect.get(prototype, name));
  if (typeof step !== 'function' || typeof decrypt !== 'function') {
    throw new Error('libsignal is not what it was: its failed decryptions damage sessions');
  }
  const undoing = new WeakMap<Session, () => void>();
  const stepping: Step = function stepping(session, remoteKey, previousCounter) {
    if (!session._chains[remoteKey.toString('base64')]) undoing.set(session, undoOf(session));
    Reflect.apply(step, this, [session, remoteKey, previousCounter]);
  };
  const decrypting: Decrypt = async function decrypting(data, session) {
    try {
      return (await Reflect.apply(decrypt, this, [data, session])) as Buffer;
    } catch (error) {
      undoing.get(session)?.();
      throw error;
    } finally {
      undoing.delete(session);
    }
  };
  Reflect.set(prototype, STEP, stepping);
  Reflect.set(prototype, DECRYPT, decrypting);
}

/** What puts a session back to what it is now, after a step of its ratchet: that closes one chain, removes one and adds two. */
function undoOf(session: Session): () => void {
  const ratchet = { ...session.currentRatchet };
  const chains = { ...session._chains };
  const closingId = ratchet.lastRemoteEphemeralKey.toString('base64');
  const closing = chains[closingId];
  if (closing) {
    chains[closingId] = { ...closing, chainKey: { ...closing.chainKey }, messageKeys: { ...closing.messageKeys } };
  }
  return () => Object.assign(session, { currentRatchet: ratchet, _chains: chains });
}
