import type { CommandInput, ExportPage } from '@dormouse/gateway-contract';
import type { Handlers } from '../command-context.js';

/** How long a request for a login code waits for the network to offer one. */
const CODE_TIMEOUT_MS = 20_000;

type Name =
  | 'channel.loginCode'
  | 'channel.phoneCode'
  | 'channel.logout'
  | 'channel.delete'
  | 'channel.sleep'
  | 'channel.exportPage'
  | 'channel.wake';

export interface ChannelTools {
  readonly now: () => number;
  /** @returns false when the channel is in use, or is not awake */
  readonly putToSleep: (channelId: string) => Promise<boolean>;
  readonly exportPage: (channelId: string, page: CommandInput<'channel.exportPage'>) => Promise<ExportPage>;
}

export function channelHandlers(tools: ChannelTools): Pick<Handlers, Name> {
  return {
    'channel.loginCode': ({ channelId, sessions }) => sessions.loginCode(channelId, tools.now() + CODE_TIMEOUT_MS),
    'channel.phoneCode': ({ channelId, sessions }, { phone }) =>
      sessions.phoneCode(channelId, phone, tools.now() + CODE_TIMEOUT_MS),
    'channel.logout': async ({ channelId, sessions }) => {
      await sessions.logout(channelId);
      return { success: true };
    },
    'channel.delete': async ({ channelId, sessions }) => {
      await sessions.forget(channelId);
      return { success: true };
    },
    'channel.sleep': async ({ channelId }) => ({ asleep: await tools.putToSleep(channelId) }),
    'channel.exportPage': ({ channelId }, page) => tools.exportPage(channelId, page),
    // A command that has the lane has an open socket: there is nothing left to do.
    'channel.wake': () => Promise.resolve({ success: true }),
  };
}
