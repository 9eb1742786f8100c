import type { ChannelSettings, CommandInput, CommandName, CommandResult, LoginCode } from '@dormouse/gateway-contract';
import type { OpenSession } from '../sessions/open-session.js';

/** What commands may ask of the sessions beyond an open socket. */
export interface SessionControl {
  /**
   * The current code to scan; starts a pairing if none runs, and callers at the same time share it.
   * @param deadlineMs epoch milliseconds until when to wait for the network to offer a code
   * @throws {GatewayError} 403 when the channel is linked already; 503 when no code came in time
   */
  loginCode(channelId: string, deadlineMs: number): Promise<LoginCode>;
  /** Unlinks the device: tells the network if it can be reached, wipes all keys, leaves the channel not linked. */
  logout(channelId: string): Promise<void>;
  /** For a deleted channel: logs out as far as possible, then leaves nothing of the session behind. */
  forget(channelId: string): Promise<void>;
}

/** What a handler has at hand while its command runs. */
export interface CommandContext {
  readonly channelId: string;
  readonly requestId: string;
  /** The channel's settings when the command was taken. */
  readonly settings: ChannelSettings;
  readonly sessions: SessionControl;
  /**
   * The open socket.
   * @throws {Error} in a command whose catalogue entry says `session: 'none'`
   */
  session(): OpenSession;
  /**
   * The words are on the wire and the order of this channel's messages is fixed: the channel's next command may start
   * while this one still waits for the network's answer.
   */
  leaveLane(): void;
}

/** One handler for each command of the catalogue; a missing one does not compile. */
export type Handlers = {
  [Name in CommandName]: (context: CommandContext, input: CommandInput<Name>) => Promise<CommandResult<Name>>;
};
