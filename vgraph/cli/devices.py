"""`vgraph devices`: what this machine can run programs on."""

from __future__ import annotations

import json as json_text
from dataclasses import asdict

import click

from vgraph.runtime.devices.groups import devices


@click.command("devices")
@click.option("--json", is_flag=True, help="Print them as JSON.")
def list_devices(json: bool) -> None:
    """List the devices of this machine: the processor, and GPUs if CuPy finds any."""
    found = devices()
    if json:
        click.echo(json_text.dumps([asdict(device) for device in found], indent=2))
        return
    for device in found:
        memory = f"{device.memory / 2**30:.1f} GiB" if device.memory else "unknown memory"
        click.echo(f"{device.name:8} {memory:>12}  {device.description}")
