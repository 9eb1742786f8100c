import { Module } from '@nestjs/common';
import { AuditController } from './audit.controller.js';

/** The audit log of accounts. */
@Module({ controllers: [AuditController] })
export class AuditModule {}
