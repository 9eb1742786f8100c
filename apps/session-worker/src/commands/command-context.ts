import type { ChannelSettings, CommandInput, CommandName, CommandResult } from '@dormouse/gateway-contract';
import type { OpenSession } from '../sessions/open-session.js';
import type { SessionControl } from '../sessions/session-control.js';

export type { SessionControl };

/** What a handler has at hand while its command runs. */
export interface CommandContext {
  readonly channelId: string;
  readonly requestId: string;
  /** Set for a send that its caller may repeat: the network's id of the message is made from it. */
  readonly sendAs?: string | undefined;
  /** The caller waits no longer than that (epoch milliseconds): what is not said by then is better not said. */
  readonly answerBy: number;
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
  /** Work that is to be done to its end, but that the answer need not wait for. It must not reject. */
  afterAnswer(work: Promise<unknown>): void;
}

/** One handler for each command of the catalogue; a missing one does not compile. */
export type Handlers = {
  [Name in CommandName]: (context: CommandContext, input: CommandInput<Name>) => Promise<CommandResult<Name>>;
};
