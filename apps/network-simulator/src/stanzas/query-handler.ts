import type { Connection } from '../network/connection.js';
import type { Device } from '../network/account.js';
import type { Network } from '../network/network.js';
import type { Node } from '../wire/node.js';

/** Who sent a query, on which socket; what a namespace's handler gets. */
export interface QueryContext {
  network: Network;
  connection: Connection;
  device: Device;
}

/**
 * Answers a query of a namespace with the content of the result (none: an empty result).
 * Throws {@link Refusal} for an error answer.
 */
export type IqHandler = (context: QueryContext, iq: Node) => Node[] | undefined | Promise<Node[] | undefined>;
