import type { Handlers } from './command-context.js';

/** How long a caller of the login code waits for the network to offer one. */
const CODE_WITHIN_MS = 20_000;

export function channelHandlers(tools: {
  now: () => number;
}): Pick<Handlers, 'channel.loginCode' | 'channel.logout' | 'channel.delete'> {
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
  };
}
