import {
  fleetChannelsQuery,
  fleetHistoryQuery,
  placementBody,
  type FleetChannel,
  type FleetChannelList,
  type FleetChannelsQuery,
  type FleetFigures,
  type FleetHistory,
  type FleetHistoryQuery,
  type FleetShard,
  type FleetShardList,
  type FleetWorker,
  type FleetWorkerList,
  type PlacementBody,
  type RegionFigures,
  type StuckThings,
} from '@dormouse/management-contract';
import { valid } from '@dormouse/http-server';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentCause, CurrentOperator } from '../accounts/account.guard.js';
import type { Cause } from '../accounts/cause.js';
import type { Operator } from '../operators/operator-keys.js';
import { FleetFiguresHistory } from './fleet-history.js';
import { Fleet } from './fleet.js';

/** Status of a drain or a placement that is stored but not carried out yet. */
const ACCEPTED = 202;

@Controller('fleet')
export class FleetController {
  constructor(
    private readonly fleet: Fleet,
    private readonly history: FleetFiguresHistory,
  ) {}

  @Get()
  figures(): Promise<FleetFigures> {
    return this.fleet.figures();
  }

  @Get(':region')
  region(@Param('region') region: string): Promise<RegionFigures> {
    return this.fleet.region(region);
  }

  @Get(':region/history')
  past(
    @Param('region') region: string,
    @Query(valid(fleetHistoryQuery)) { minutes }: FleetHistoryQuery,
  ): Promise<FleetHistory> {
    return this.history.of(region, minutes);
  }

  @Get(':region/stuck')
  stuck(@Param('region') region: string): Promise<StuckThings> {
    return this.fleet.stuck(region);
  }

  @Get(':region/workers')
  workers(@Param('region') region: string): Promise<FleetWorkerList> {
    return this.fleet.workers(region);
  }

  @Get(':region/workers/:worker')
  worker(@Param('region') region: string, @Param('worker') worker: string): Promise<FleetWorker> {
    return this.fleet.worker(region, worker);
  }

  @Put(':region/workers/:worker/drain')
  async drain(
    @CurrentOperator() operator: Operator,
    @Param('region') region: string,
    @Param('worker') worker: string,
    @Req() { id: requestId }: FastifyRequest,
    @CurrentCause() cause: Cause,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<FleetWorker> {
    const drained = await this.fleet.setDrain({ operator, requestId, cause }, region, worker, true);
    if (drained.shards.length > 0) void reply.code(ACCEPTED);
    return drained;
  }

  @Delete(':region/workers/:worker/drain')
  undrain(
    @CurrentOperator() operator: Operator,
    @Param('region') region: string,
    @Param('worker') worker: string,
    @Req() { id: requestId }: FastifyRequest,
    @CurrentCause() cause: Cause,
  ): Promise<FleetWorker> {
    return this.fleet.setDrain({ operator, requestId, cause }, region, worker, false);
  }

  @Get(':region/shards')
  shards(@Param('region') region: string): Promise<FleetShardList> {
    return this.fleet.shards(region);
  }

  @Get(':region/shards/:shard')
  shard(@Param('region') region: string, @Param('shard') shard: string): Promise<FleetShard> {
    return this.fleet.shard(region, shard);
  }

  @Put(':region/shards/:shard/placement')
  async place(
    @CurrentOperator() operator: Operator,
    @Param('region') region: string,
    @Param('shard') shard: string,
    @Body(valid(placementBody)) { worker }: PlacementBody,
    @Req() { id: requestId }: FastifyRequest,
    @CurrentCause() cause: Cause,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<FleetShard> {
    const placed = await this.fleet.place({ operator, requestId, cause }, region, shard, worker);
    if (placed.owner !== worker) void reply.code(ACCEPTED);
    return placed;
  }

  @Delete(':region/shards/:shard/placement')
  unplace(
    @CurrentOperator() operator: Operator,
    @Param('region') region: string,
    @Param('shard') shard: string,
    @Req() { id: requestId }: FastifyRequest,
    @CurrentCause() cause: Cause,
  ): Promise<FleetShard> {
    return this.fleet.unplace({ operator, requestId, cause }, region, shard);
  }

  @Get(':region/channels')
  channels(
    @Param('region') region: string,
    @Query(valid(fleetChannelsQuery)) query: FleetChannelsQuery,
  ): Promise<FleetChannelList> {
    return this.fleet.channels(region, query);
  }

  @Get(':region/channels/:id')
  channel(@Param('region') region: string, @Param('id') id: string): Promise<FleetChannel> {
    return this.fleet.channel(region, id);
  }

  @Post(':region/channels/:id/sleep')
  @HttpCode(200)
  sleep(
    @CurrentOperator() operator: Operator,
    @Param('region') region: string,
    @Param('id') id: string,
    @Req() { id: requestId }: FastifyRequest,
    @CurrentCause() cause: Cause,
  ): Promise<FleetChannel> {
    return this.fleet.sleep({ operator, requestId, cause }, region, id);
  }

  @Post(':region/channels/:id/wake')
  @HttpCode(200)
  wake(
    @CurrentOperator() operator: Operator,
    @Param('region') region: string,
    @Param('id') id: string,
    @Req() { id: requestId }: FastifyRequest,
    @CurrentCause() cause: Cause,
  ): Promise<FleetChannel> {
    return this.fleet.wake({ operator, requestId, cause }, region, id);
  }
}
