/** Creates the sessions of a worker with all that they share. */
import type { ChannelDirectory } from '@dormouse/channel-directory';
import { SocketFactory, type SocketFactoryOptions } from '../socket/socket-factory.js';
import { ConnectSettingsReader } from './connect-settings.js';
import { ConnectSlots } from './connect-slots.js';
import { LinkFailures } from './linking.js';
import type { SessionObserver, SessionParts } from './session-context.js';
import { Sessions } from './sessions.js';

export interface SessionsOptions
  extends
    Omit<SocketFactoryOptions, 'log'>,
    Pick<SessionParts, 'authStates' | 'hibernation' | 'states' | 'backoff' | 'restMs' | 'log'> {
  readonly directory: ChannelDirectory;
  /** How many sessions connect at once. */
  readonly connectingAtOnce: number;
  /** Longest random delay of a start, so that shards do not all connect in one moment; in milliseconds. */
  readonly startJitterMs: number;
  readonly observer?: Partial<SessionObserver>;
}

const UNOBSERVED: SessionObserver = {
  woken: () => undefined,
  wakeFailed: () => undefined,
  closed: () => undefined,
};

export function createSessions(options: SessionsOptions): Sessions {
  const { directory, authStates, hibernation, states, observer, backoff, restMs, log } = options;
  const parts: SessionParts = {
    ...{ authStates, hibernation, states, backoff, restMs, log },
    settings: new ConnectSettingsReader(directory),
    sockets: new SocketFactory(options),
    slots: new ConnectSlots(options.connectingAtOnce, options.startJitterMs),
    observer: { ...UNOBSERVED, ...observer },
    linkFailures: new LinkFailures(backoff, Date.now),
    now: Date.now,
  };
  return new Sessions({ directory, parts });
}
