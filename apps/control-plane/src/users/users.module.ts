import { Module } from '@nestjs/common';
import { OwnUserController } from './own-user.controller.js';
import { SigningInController } from './signing-in.controller.js';

/** Users and sign-in. The services are those of the process (app.module.ts). */
@Module({ controllers: [SigningInController, OwnUserController] })
export class UsersModule {}
