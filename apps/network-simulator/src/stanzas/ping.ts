import type { IqHandler } from './query-handler.js';

/** A keep-alive, both ways. */
export const ping: IqHandler = () => undefined;
