/**
 * What we add to the engine as a plugin: codes of authenticator apps are used once, and completed sign-ins are made known.
 */
import { createAuthMiddleware, getSessionFromCtx } from 'better-auth/api';
import type { BetterAuthPlugin } from 'better-auth';
import type { SecondFactorCodes } from './second-factor-codes.js';

const VERIFY_CODE_PATH = '/two-factor/verify-totp';
const VERIFY_RECOVERY_CODE_PATH = '/two-factor/verify-backup-code';
const CALLBACK_PATH = '/callback/:id';
const VERIFY_ADDRESS_PATH = '/verify-email';
/** After these, a session that was begun is complete; of those without a code only if none is required. */
const SIGN_INS = new Set([
  '/sign-in/email',
  VERIFY_CODE_PATH,
  VERIFY_RECOVERY_CODE_PATH,
  CALLBACK_PATH,
  VERIFY_ADDRESS_PATH,
]);
/** Sessions that begin there wait for a code while the second factor of their user is on. */
const WITHOUT_CODE = new Set([CALLBACK_PATH, VERIFY_ADDRESS_PATH]);
/** No code: the engine counts the attempt as a failure. */
const REFUSED_CODE = 'used';

/** Whether a code is looked at there. */
export function isCodePath(path: string): boolean {
  return path === VERIFY_CODE_PATH || path === VERIFY_RECOVERY_CODE_PATH;
}

export interface SignedIn {
  userId: string;
  sessionId: string;
  address: string;
  browser: string;
}

interface ObserverParts {
  codes: SecondFactorCodes;
  onSignedIn: (signedIn: SignedIn) => Promise<void>;
}

export function signInObserver({ codes, onSignedIn }: ObserverParts): BetterAuthPlugin {
  return {
    id: 'sign-in-observer',
    hooks: {
      before: [
        {
          matcher: ({ path }) => path === VERIFY_CODE_PATH,
          handler: createAuthMiddleware(async (ctx) => {
            const body: unknown = ctx.body;
            const code = typeof body === 'object' && body !== null ? String(Reflect.get(body, 'code')) : '';
            const userId = await userOf(ctx);
            if (userId !== undefined && (await codes.use(userId, code))) return undefined;
            return { context: { body: { code: REFUSED_CODE } } };
          }),
        },
      ],
      after: [
        {
          matcher: ({ path }) => path !== undefined && SIGN_INS.has(path),
          handler: createAuthMiddleware(async (ctx) => {
            const begun = ctx.context.newSession;
            if (!begun || (WITHOUT_CODE.has(ctx.path) && begun.user.twoFactorEnabled === true)) return;
            const { id, userId, ipAddress, userAgent } = begun.session;
            await onSignedIn({ userId, sessionId: id, address: ipAddress ?? '', browser: userAgent ?? '' });
          }),
        },
      ],
    },
  };
}

type HookContext = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0];

/** Whose code it is: of the sign-in that waits for it, or of the session that turns its second factor on. */
async function userOf(ctx: HookContext): Promise<string | undefined> {
  const session = await getSessionFromCtx(ctx);
  if (session) return session.user.id;
  const { name } = ctx.context.createAuthCookie('two_factor');
  const waiting = await ctx.getSignedCookie(name, ctx.context.secret);
  if (!waiting) return undefined;
  return (await ctx.context.internalAdapter.findVerificationValue(waiting))?.value;
}
