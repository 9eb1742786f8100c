import type { IqHandler } from './query-handler.js';

/** A sign of life, both ways. */
export const ping: IqHandler = () => undefined;
