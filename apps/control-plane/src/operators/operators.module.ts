import type { GlobalDatabase } from '@dormouse/database';
import { Module } from '@nestjs/common';
import { BillingModule } from '../billing/billing.module.js';
import { Billing } from '../billing/billing.js';
import { GLOBAL_DATABASE } from '../services.js';
import { OperatorAccountsController } from './operator-accounts.controller.js';
import { OperatorAccounts } from './operator-accounts.js';

/** Accounts for operators. Their keys are a service of the process (app.module.ts). */
@Module({
  imports: [BillingModule],
  controllers: [OperatorAccountsController],
  providers: [
    {
      provide: OperatorAccounts,
      inject: [GLOBAL_DATABASE, Billing],
      useFactory: (database: GlobalDatabase, billing: Billing) => new OperatorAccounts(database, billing),
    },
  ],
})
export class OperatorsModule {}
