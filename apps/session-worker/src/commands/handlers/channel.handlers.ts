import type { Handlers } from '../command-context.js';

/** How long a caller of the login code waits for the network to offer one. */
const CODE_WITHIN_MS = 20_000;

type Name = 'channel.loginCode' | 'channel.logout' | 'channel.delete' | 'channel.sleep' | 'channel.wake';

export interface ChannelTools {
  readonly now: () => number;
  /** @returns false when the channel is needed, or is not awake */
  readonly putToSleep: (channelId: string) => Promise<boolean>;
}

export function channelHandlers(tools: ChannelTools): Pick<Handlers, Name> {
  return {
    'channel.loginCode': ({ channelId, sessions }) => sessions.loginCode(channelId, tools.now() + CODE_WITHIN_MS),
    'channel.logout': async ({ channelId, sessions }) => {
      await sessions.logout(channelId);
      return { success: true };
    },
    'channel.delete': async ({ channelId, sessions }) => {
      await sessions.forget(channelId);
      return { success: true };
    },
    'channel.sleep': async ({ channelId }) => ({ asleep: await tools.putToSleep(channelId) }),
    // Whoever has the lane has the open socket.
    'channel.wake': () => Promise.resolve({ success: true }),
  };
}
