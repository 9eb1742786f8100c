import type { ChannelSession, SessionStateChange } from '@dormouse/channel-directory';
import type { SessionState } from '@dormouse/gateway-contract';
import { ChangeSignal } from './change-signal.js';
import type { OwnIdentity } from '../socket/open-session.js';
import { identityColumns } from './session-identity.js';
import { assertMove, resumed } from './session-states.js';
import { StateRecorder } from './state-recorder.js';

export interface SessionRecordOptions {
  /** Stores a state, under the fence. */
  readonly write: (change: SessionStateChange) => Promise<unknown>;
  readonly held: () => boolean;
  readonly onFault: (error: unknown) => void;
}

/** The state of one channel's session, stored in order as it changes. */
export class SessionRecord {
  /** Fires with every change. */
  readonly changed = new ChangeSignal();
  /** Called when the session is in a state in which it may be forgotten, and that is stored. */
  onRest: (() => void) | undefined;
  linked: boolean;
  private current: SessionState;
  private why: string | null;
  private storedIdentity = '';
  private readonly recorder: StateRecorder;

  constructor(stored: ChannelSession, options: SessionRecordOptions) {
    this.linked = stored.linked;
    this.current = resumed(stored.state, stored.linked);
    this.why = stored.reason;
    this.recorder = new StateRecorder(options.write, options.held, options.onFault);
    if (this.current === stored.state) return; // one that is asleep was requested: it stays
    this.recorder.note({ state: this.current });
    if (this.current === 'hibernated') this.noteRest();
  }

  get state(): SessionState {
    return this.current;
  }

  /** Name of the close reason it rests with. */
  get reason(): string | null {
    return this.why;
  }

  /** Asleep, or on the way back. */
  get asleep(): boolean {
    return this.current === 'hibernated' || this.current === 'waking';
  }

  /** Whether its state lets it be forgotten. */
  get resting(): boolean {
    return (this.current === 'hibernated' || (this.current === 'closed' && !this.linked)) && !this.recorder.busy;
  }

  move(to: SessionState, change: Omit<SessionStateChange, 'state'> = {}): void {
    assertMove(this.current, to);
    this.current = to;
    this.why = change.reason ?? null;
    this.recorder.note({ ...change, state: to });
    this.changed.fire();
    if (to === 'hibernated' || (to === 'closed' && !this.linked)) this.noteRest();
  }

  /** The identity of the channel, to be stored with a move. */
  identity(identity: OwnIdentity): Pick<SessionStateChange, 'phone' | 'lid' | 'deviceId' | 'pushName'> {
    this.storedIdentity = JSON.stringify(identity);
    return identityColumns(identity);
  }

  /** Stores the identity of the channel if it has changed. */
  identified(identity: OwnIdentity): void {
    if (this.current !== 'open' || this.storedIdentity === JSON.stringify(identity)) return;
    this.recorder.note({ state: 'open', ...this.identity(identity) });
  }

  /** Resolves when everything so far is stored, or could not be. */
  settled(): Promise<void> {
    return this.recorder.settled();
  }

  private noteRest(): void {
    void this.recorder.settled().then(() => this.onRest?.());
  }
}
