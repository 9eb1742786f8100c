import type { Catalogue } from '../catalogue.js';
import { account } from './account.js';
import { frame } from './frame.js';
import { signIn } from './sign-in.js';

export const catalogue: Catalogue = { account, frame, signIn };
