/** Message of a 403 that only means: enter the password again first. A spec holds it to the contract's. */
export const PASSWORD_REQUIRED = 'password required';
/** Message of a 401 that only means: the session waits for a code. A spec holds it to the contract's. */
export const CODE_REQUIRED = 'code required';

/** The management API answered that it did not do what was requested. Texts are for people. */
export class ApiFailure extends Error {
  constructor(
    readonly status: number,
    readonly parts: {
      message: string;
      details?: string | undefined;
      href?: string | undefined;
      requestId?: string | undefined;
      /** Seconds after which a repetition makes sense. */
      retryAfterS?: number | undefined;
    },
  ) {
    super(parts.details ?? parts.message);
    this.name = 'ApiFailure';
  }

  /** The password must be entered again first (POST /auth/prove). */
  get needsPassword(): boolean {
    return this.status === 403 && this.parts.message === PASSWORD_REQUIRED;
  }

  /** The session waits for a code of the second factor (POST /auth/sign-in/code). */
  get needsCode(): boolean {
    return this.status === 401 && this.parts.message === CODE_REQUIRED;
  }

  /** The field that a 400 names, with the parts below it (`webhooks.0.url: ...`). */
  get fieldPath(): string | undefined {
    return this.status === 400 ? /^([\w.]+): /.exec(this.message)?.[1] : undefined;
  }

  /** The field that a 400 names, without the parts below it. */
  get field(): string | undefined {
    return this.fieldPath?.split('.')[0];
  }

  /** The sentence without the field before it. */
  get sentence(): string {
    return this.field === undefined ? this.message : this.message.replace(/^[\w.]+: /, '');
  }
}

/** The management API did not answer at all, or something before it did in its place. */
export class ApiAway extends Error {
  constructor(options?: ErrorOptions) {
    super('the management API does not answer', options);
    this.name = 'ApiAway';
  }
}
