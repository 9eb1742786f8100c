import { frame } from './frame.js';
import { signIn } from './sign-in.js';

export const catalogue = { frame, signIn } as const;
