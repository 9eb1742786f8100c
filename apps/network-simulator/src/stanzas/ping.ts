import type { IqHandler } from './answer.js';

/** A sign of life, both ways. */
export const ping: IqHandler = () => undefined;
