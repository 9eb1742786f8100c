import { node } from '../wire/node.js';
import type { IqHandler } from './query-handler.js';

/** Experiment switches of the real network; ours has none but one that clients look for. */
export const abt: IqHandler = () => [
  node('props', { protocol: '1', hash: 'dormouse', refresh: '86400' }, [
    node('prop', { config_code: '10518', config_value: '0' }),
  ]),
];
