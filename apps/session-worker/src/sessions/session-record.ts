import type { ChannelSession, SessionStateChange } from '@dormouse/channel-directory';
import type { SessionState } from '@dormouse/gateway-contract';
import { ChangeSignal } from './change-signal.js';
import type { OwnIdentity } from '../socket/open-session.js';
import { identityColumns } from './session-identity.js';
import { assertMove, resumed } from './session-states.js';
import { StateRecorder } from './state-recorder.js';

export interface SessionRecordOptions {
  /** Writes a state down, under the fence. */
  readonly write: (change: SessionStateChange) => Promise<unknown>;
  readonly held: () => boolean;
  readonly onFault: (error: unknown) => void;
  /** The session has come to a state in which it may be forgotten, and that is written down. */
  readonly onRest: () => void;
}

/** The state of one channel's session, written down in order as it changes. */
export class SessionRecord {
  /** Fires with every change. */
  readonly changed = new ChangeSignal();
  linked: boolean;
  private current: SessionState;
  private why: string | null;
  private knownAs = '';
  private readonly recorder: StateRecorder;

  constructor(
    stored: ChannelSession,
    private readonly options: SessionRecordOptions,
  ) {
    this.linked = stored.linked;
    this.current = resumed(stored.state, stored.linked);
    this.why = stored.reason;
    this.recorder = new StateRecorder(options.write, options.held, options.onFault);
    if (this.current === stored.state) return; // one that is asleep already was asked for: it stays
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

  /** May it be forgotten as far as its state goes? */
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

  /** Who the channel is, to be written down with a move. */
  know(identity: OwnIdentity): Pick<SessionStateChange, 'phone' | 'lid' | 'deviceId' | 'pushName'> {
    this.knownAs = JSON.stringify(identity);
    return identityColumns(identity);
  }

  /** Writes down who the channel is if that has changed. */
  identified(identity: OwnIdentity): void {
    if (this.current !== 'open' || this.knownAs === JSON.stringify(identity)) return;
    this.recorder.note({ state: 'open', ...this.know(identity) });
  }

  /** Resolves when everything so far is written down, or could not be. */
  settled(): Promise<void> {
    return this.recorder.settled();
  }

  private noteRest(): void {
    void this.recorder.settled().then(() => this.options.onRest());
  }
}
