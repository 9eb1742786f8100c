import type { ChannelSettings, CommandInput, CommandName, CommandResult } from '@dormouse/gateway-contract';
import type { OpenSession } from '../socket/open-session.js';
import type { SessionControl } from '../sessions/session-control.js';

export type { SessionControl };

/** What a handler has at hand while its command runs. */
export interface CommandContext {
  readonly channelId: string;
  readonly requestId: string;
  /** Set for a send that its caller may repeat: the network's id of the message is made from it. */
  readonly sendAs?: string | undefined;
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
  /** Work that begins when the answer is on its way, and is done to its end. It must not reject. */
  afterAnswer(work: () => Promise<unknown>): void;
}

/** What the preparation of a command has at hand. It says nothing to anybody. */
export interface PreparationContext {
  readonly channelId: string;
  /**
   * The open socket, which is woken if need be.
   * @throws {GatewayError} 503 when it is not there in time
   */
  readonly openSession: () => Promise<OpenSession>;
  /** Aborted when the command is over: nobody waits for what is still being prepared. */
  readonly signal: AbortSignal;
}

/** Does a command in its turn of the channel's lane. */
export type Turn<Name extends CommandName> = (context: CommandContext) => Promise<CommandResult<Name>>;

/**
 * A command of which the larger part can be done before its turn: files on their way to the network, pages that links
 * lead to. That part begins as soon as the command arrives, beside the lane and beside the preparations of others; the
 * command keeps its place meanwhile, so that messages go out in the order they were accepted.
 */
export interface PreparedHandler<Name extends CommandName> {
  /** @returns what remains to be done in the command's turn */
  prepare(context: PreparationContext, input: CommandInput<Name>): Promise<Turn<Name>>;
}

export type Handler<Name extends CommandName> =
  ((context: CommandContext, input: CommandInput<Name>) => Promise<CommandResult<Name>>) | PreparedHandler<Name>;

/** One handler for each command of the catalogue; a missing one does not compile. */
export type Handlers = { [Name in CommandName]: Handler<Name> };
