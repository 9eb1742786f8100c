import type { ChannelRecord } from '@dormouse/channel-directory';
import {
  GatewayError,
  listMediaQuery,
  uploadMediaBody,
  type ListMediaQuery,
  type MediaFilesList,
  type Success,
  type UploadMediaResult,
} from '@dormouse/gateway-contract';
import { downloadNameOf, MediaReader, type MediaFile } from '@dormouse/media-store/read';
import { attachmentHeader } from '@dormouse/object-storage';
import { valid } from '@dormouse/http-server';
import { Controller, Delete, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentCaller, CurrentChannel, type Caller } from '../access/current-channel.js';
import { Endpoint } from '../access/endpoint.js';
import { readRange } from './byte-ranges.js';
import { RequestFiles } from './request-files.js';
import { StoredFiles } from './stored-files.js';

const noSuchFile = () => new GatewayError(404, { details: 'MediaID: no such media' });

@Controller('media')
export class MediaController {
  constructor(
    private readonly reader: MediaReader,
    private readonly requestFiles: RequestFiles,
    private readonly stored: StoredFiles,
  ) {}

  @Get()
  async list(
    @CurrentChannel() { id }: ChannelRecord,
    @Query(valid(listMediaQuery)) { time_from: timeFrom, time_to: timeTo, ...page }: ListMediaQuery,
  ): Promise<MediaFilesList> {
    const { files, total } = await this.reader.list(id, { ...page, timeFrom, timeTo });
    return { files, count: page.count, total, offset: page.offset };
  }

  /** A raw body of any type, a form, or JSON with a URL, a data: URI or base64. */
  @Post()
  @HttpCode(200)
  @Endpoint({ file: 'upload' })
  upload(@CurrentCaller() caller: Caller, @Req() request: FastifyRequest): Promise<UploadMediaResult> {
    return this.requestFiles.receive(
      request,
      { schema: uploadMediaBody, field: 'media' },
      async (body, requestFile) => {
        const file = await requestFile.store(caller, body.media, 'uploaded', body);
        return { media: [{ id: file.id }], id: file.id };
      },
    );
  }

  /** The bytes, or a part of them. The file of a received message is fetched from the network on its first request. */
  @Get(':MediaID')
  async bytes(
    @CurrentCaller() caller: Caller,
    @Param('MediaID') mediaId: string,
    @Req() { headers }: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const file = await this.stored.obtain(caller, mediaId);
    if (!file) throw noSuchFile();
    const etag = `"${file.sha256.toString('hex')}"`;
    const mayBePart = headers['if-range'] === undefined || headers['if-range'] === etag;
    const range = mayBePart ? readRange(headers.range, file.size) : undefined;
    void reply.header('accept-ranges', 'bytes').header('etag', etag);
    if (range === 'unsatisfiable') {
      void reply.header('content-range', `bytes */${file.size}`);
      throw new GatewayError(416, { details: `range: the file has ${file.size} bytes` });
    }
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const opened = await this.reader.open(caller.channel.id, mediaId, { ...(range && { range }), signal: gone.signal });
    if (!opened) throw noSuchFile();
    const { object } = opened;
    if (object.range) {
      const { start, end } = object.range;
      void reply.code(206).header('content-range', `bytes ${start}-${end}/${object.totalSize}`);
    }
    return void (await reply.headers(headersOf(file)).header('content-length', object.size).send(object.stream));
  }

  @Delete(':MediaID')
  @Endpoint({ ignoresBody: true })
  async remove(@CurrentChannel() { id }: ChannelRecord, @Param('MediaID') mediaId: string): Promise<Success> {
    if (!(await this.stored.remove(id, mediaId))) throw noSuchFile();
    return { success: true };
  }
}

function headersOf(file: MediaFile): Record<string, string> {
  return {
    'content-type': file.mimeType,
    'content-disposition': attachmentHeader(downloadNameOf(file)),
    // Browsers must not run a received file as a page of this origin.
    'x-content-type-options': 'nosniff',
  };
}
