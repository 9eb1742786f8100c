import { valid } from '@dormouse/http-server';
import { createKeyBody, type CreateKeyBody, type KeyCreated, type KeyList } from '@dormouse/management-contract';
import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { CurrentCaller, CurrentCause } from './account.guard.js';
import type { Caller } from './caller.js';
import type { Cause } from './cause.js';
import { Keys } from './keys.js';

@Controller('account/keys')
export class KeysController {
  constructor(private readonly keys: Keys) {}

  @Get()
  async list(@CurrentCaller() caller: Caller): Promise<KeyList> {
    return { keys: await this.keys.list(caller) };
  }

  @Post()
  create(
    @CurrentCaller() caller: Caller,
    @CurrentCause() cause: Cause,
    @Body(valid(createKeyBody)) body: CreateKeyBody,
  ): Promise<KeyCreated> {
    return this.keys.create(caller, body, cause);
  }

  @Delete(':id')
  @HttpCode(204)
  end(@CurrentCaller() caller: Caller, @CurrentCause() cause: Cause, @Param('id') id: string): Promise<void> {
    return this.keys.end(caller, id, cause);
  }
}
