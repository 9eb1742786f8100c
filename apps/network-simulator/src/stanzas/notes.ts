import type { IqHandler } from './query-handler.js';

/** What a client only notifies the server of: that it has cleaned what was dirty, and statistics. */
export const note: IqHandler = () => undefined;
