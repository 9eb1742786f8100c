import type { GlobalDatabase } from '@dormouse/database';
import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { OperatorKeys } from '../operators/operator-keys.js';
import { GLOBAL_DATABASE } from '../services.js';
import { SignIn } from '../users/sign-in.js';
import { UserSessions } from '../users/user-sessions.js';
import { AccountGuard } from './account.guard.js';
import { AccountLimitsController } from './account-limits.controller.js';
import { AccountsController } from './accounts.controller.js';
import { Accounts } from './accounts.js';
import { Callers } from './callers.js';
import { KeyUse } from './key-use.js';
import { KeysController } from './keys.controller.js';
import { Keys } from './keys.js';
import { Looks } from './looks.js';
import { RequestLimits } from './request-limits.js';

/** Accounts, their keys, and the guard in front of every route. `Accounts` itself is a service of the process (app.module.ts). */
@Module({
  controllers: [AccountsController, KeysController, AccountLimitsController],
  providers: [
    {
      provide: KeyUse,
      inject: [GLOBAL_DATABASE],
      useFactory: (database: GlobalDatabase) => new KeyUse(database),
    },
    { provide: Keys, inject: [GLOBAL_DATABASE], useFactory: (database: GlobalDatabase) => new Keys(database) },
    {
      provide: Callers,
      inject: [Accounts, UserSessions],
      useFactory: (accounts: Accounts, sessions: UserSessions) => new Callers(accounts, sessions),
    },
    {
      provide: APP_GUARD,
      inject: [Callers, OperatorKeys, RequestLimits, KeyUse, SignIn, GLOBAL_DATABASE],
      useFactory: (
        callers: Callers,
        operators: OperatorKeys,
        limits: RequestLimits,
        keyUse: KeyUse,
        { settings }: SignIn,
        database: GlobalDatabase,
      ) =>
        new AccountGuard({
          ...{ callers, operators, limits, keyUse, looks: new Looks(database) },
          publicUrl: settings?.publicUrl,
        }),
    },
  ],
  exports: [Callers, Keys],
})
export class AccountsModule implements OnApplicationShutdown {
  constructor(private readonly keyUse: KeyUse) {}

  async onApplicationShutdown(): Promise<void> {
    await this.keyUse.close();
  }
}
