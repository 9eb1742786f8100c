import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { OperatorKeys } from '../operators/operator-keys.js';
import { AccountGuard } from './account.guard.js';
import { AccountsController } from './accounts.controller.js';
import { Accounts } from './accounts.js';
import { RequestLimits } from './request-limits.js';

/** Accounts, and the guard in front of every route. `Accounts` itself is a service of the process (app.module.ts). */
@Module({
  controllers: [AccountsController],
  providers: [
    {
      provide: APP_GUARD,
      inject: [Accounts, OperatorKeys, RequestLimits],
      useFactory: (accounts: Accounts, operators: OperatorKeys, limits: RequestLimits) =>
        new AccountGuard(accounts, operators, limits),
    },
  ],
})
export class AccountsModule {}
