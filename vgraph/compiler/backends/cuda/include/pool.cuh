// Dynamic shared memory of a block: one pool for all loops of a kernel, each of which has it between two barriers.
#pragma once

namespace vg {

VG_DEVICE u32* pool() {
#ifdef __CUDA_ARCH__
  extern __shared__ uint4 dynamic[];
  return (u32*)dynamic;
#else
  return emu_dynamic_shared();
#endif
}

// What the block was given; begins as rubbish.
VG_DEVICE u32 pool_bytes() {
#ifdef __CUDA_ARCH__
  u32 bytes;
  asm("mov.u32 %0, %dynamic_smem_size;" : "=r"(bytes));
  return bytes;
#else
  return emu_dynamic_shared_bytes();
#endif
}

}  // namespace vg
