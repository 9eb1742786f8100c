import { account } from './account.js';
import { frame } from './frame.js';
import { signIn } from './sign-in.js';

export const catalogue = { account, frame, signIn } as const;
