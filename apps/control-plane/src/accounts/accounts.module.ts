import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { OperatorKeys } from '../operators/operator-keys.js';
import { AccountGuard } from './account.guard.js';
import { AccountsController } from './accounts.controller.js';
import { Accounts } from './accounts.js';

/** Accounts, and the guard in front of every route. `Accounts` itself is a service of the process (app.module.ts). */
@Module({
  controllers: [AccountsController],
  providers: [
    {
      provide: APP_GUARD,
      inject: [Accounts, OperatorKeys],
      useFactory: (accounts: Accounts, operators: OperatorKeys) => new AccountGuard(accounts, operators),
    },
  ],
})
export class AccountsModule {}
