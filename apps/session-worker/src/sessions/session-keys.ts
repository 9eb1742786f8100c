import type { NetworkAuthState } from '../socket/key-format.js';
import { UnsealableError } from '../encryption/sealing.js';
import { identityOf } from '../socket/live-session.js';
import type { SessionContext } from './session-context.js';

/** Where one session's credentials and keys are: in rows while it is awake, in an object while it sleeps. */
export class SessionKeys {
  private preparing: Promise<NetworkAuthState> | undefined;

  constructor(
    private readonly channelId: string,
    private readonly context: Pick<SessionContext, 'authStates' | 'hibernation' | 'held'>,
  ) {}

  /** Whether the state is being read or created. */
  get busy(): boolean {
    return this.preparing !== undefined;
  }

  /** Resolves when nothing is being read or created. */
  async idle(): Promise<void> {
    await this.preparing?.catch(() => undefined);
  }

  /**
   * The state to connect with: new for a pairing, else the stored one, restored from its snapshot if need be.
   * @throws {UnsealableError} when there is none that opens
   */
  prepare(linked: boolean): Promise<NetworkAuthState> {
    const { authStates, held } = this.context;
    const begun = linked ? this.stored() : authStates.create(held, this.channelId);
    const preparing = begun.finally(() => {
      if (this.preparing === preparing) this.preparing = undefined;
    });
    this.preparing = preparing;
    return preparing;
  }

  /** Moves the state into a snapshot. @throws when it could not; it is as it was then */
  async seal(wakeAtMs: number): Promise<void> {
    const { hibernation, held } = this.context;
    await hibernation.seal(held, this.channelId, wakeAtMs);
  }

  /** When the sleeping session is to be woken by itself, in epoch milliseconds. */
  async postpone(wakeAtMs: number): Promise<void> {
    const { hibernation, held } = this.context;
    await hibernation.postpone(held, this.channelId, wakeAtMs);
  }

  /** Leaves nothing of the state. */
  async wipe(): Promise<void> {
    const { authStates, hibernation, held } = this.context;
    await authStates.wipe(held, this.channelId);
    await hibernation.forget(held, this.channelId);
  }

  private async stored(): Promise<NetworkAuthState> {
    const { authStates, held } = this.context;
    const auth = (await authStates.load(held, this.channelId)) ?? (await this.restored());
    if (auth && identityOf(auth.creds)) return auth;
    throw new UnsealableError(`credentials of ${this.channelId}`); // they are missing, which is no better
  }

  private async restored(): Promise<NetworkAuthState | undefined> {
    const { authStates, hibernation, held } = this.context;
    const opened = await hibernation.restore(held, this.channelId);
    return opened && authStates.open(held, this.channelId, opened);
  }
}
