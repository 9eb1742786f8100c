import type { ChannelSettings, CommandInput, CommandName, CommandResult } from '@dormouse/gateway-contract';
import type { OpenSession } from '../socket/open-session.js';
import type { SessionControl } from '../sessions/session-control.js';

export type { SessionControl };

/** What a handler gets while its command runs. */
export interface CommandContext {
  readonly channelId: string;
  readonly requestId: string;
  /** Set for a send that its caller may repeat: the network's id of the message is derived from it. */
  readonly sendAs?: string | undefined;
  /** The channel's settings when the command started. */
  readonly settings: ChannelSettings;
  readonly sessions: SessionControl;
  /**
   * The open socket.
   * @throws {Error} in a command whose catalogue entry has `session: 'none'`
   */
  session(): OpenSession;
  /**
   * The message is on the wire and the order of this channel's messages is fixed: the channel's next command may start
   * while this one still waits for the network's answer.
   */
  leaveLane(): void;
  /** Work that starts once the reply was sent and runs to its end. It must not reject. */
  afterAnswer(work: () => Promise<unknown>): void;
}

/** What the preparation of a command gets. A preparation sends nothing to any chat. */
export interface PreparationContext {
  readonly channelId: string;
  /**
   * The open socket, woken if necessary.
   * @throws {GatewayError} 503 when it is not open in time
   */
  readonly openSession: () => Promise<OpenSession>;
  /** Aborted when the command is over: its preparation is no longer needed. */
  readonly signal: AbortSignal;
}

/** Runs a command in its turn of the channel's lane. */
export type Turn<Name extends CommandName> = (context: CommandContext) => Promise<CommandResult<Name>>;

/**
 * A command most of which can be done before its turn: uploads to the network, pages that links lead to. That part starts
 * as soon as the command arrives, outside the lane and in parallel to other preparations. The command keeps its place
 * meanwhile, so that messages are sent in the order they were accepted.
 */
export interface PreparedHandler<Name extends CommandName> {
  /** @returns what remains to be done in the command's turn */
  prepare(context: PreparationContext, input: CommandInput<Name>): Promise<Turn<Name>>;
}

export type Handler<Name extends CommandName> =
  ((context: CommandContext, input: CommandInput<Name>) => Promise<CommandResult<Name>>) | PreparedHandler<Name>;

/** One handler for each command of the catalogue; a missing one does not compile. */
export type Handlers = { [Name in CommandName]: Handler<Name> };
