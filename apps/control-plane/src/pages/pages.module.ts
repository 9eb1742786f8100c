import { Module } from '@nestjs/common';
import { InstallationController } from './installation.controller.js';

/** What the dashboard needs before anybody is signed in. Its files are served by `dashboard.ts`. */
@Module({ controllers: [InstallationController] })
export class PagesModule {}
